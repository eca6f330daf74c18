// The payload's schema as TypeScript, so that the compiler can compare it with payload.ts.

function members(schema) {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties)
    .map(([name, value]) => `${name}${required.has(name) ? "" : "?"}: ${typeOf(value)};`)
    .join("\n");
}

/** The type of the values that a schema allows; throws where it uses words that are not told of here. */
export function typeOf(schema) {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((v) => JSON.stringify(v)).join(" | ");
  switch (schema.type) {
    case "integer":
    case "number":
      return "number";
    case "string":
    case "boolean":
      return schema.type;
    case "array": {
      const item = typeOf(schema.items);
      const fixed = schema.minItems !== undefined && schema.minItems === schema.maxItems;
      // A fixed number of alike items is a tuple there, where it is short.
      if (fixed && schema.minItems <= 3) return `[${Array(schema.minItems).fill(item).join(", ")}]`;
      return `(${item})[]`;
    }
    case "object":
      return `{\n${members(schema)}\n}`;
    default:
      throw new Error(`no type for ${JSON.stringify(schema).slice(0, 80)}`);
  }
}

/** A module that compiles only where the types say the same, in both directions. */
export function comparison(schema, payload) {
  return `import type { Payload } from ${JSON.stringify(payload)};
type Schema = ${typeOf(schema)};
type All<T> = T extends string | number | boolean ? T : { [K in keyof T]-?: All<T[K]> };
declare const schema: Schema;
declare const payload: Payload;
declare const allOfSchema: All<Schema>;
declare const allOfPayload: All<Payload>;
export const sides: [Payload, Schema, All<Payload>, All<Schema>] = [schema, payload, allOfSchema, allOfPayload];
`;
}
