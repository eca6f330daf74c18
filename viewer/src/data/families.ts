import type { Kernel } from "./payload";

/** Kernels that are instances of one template: what they do together, and each of them. A kernel without others is alone. */
export interface Family extends Kernel {
  members: Kernel[];
}

const added = (members: Kernel[], of: (k: Kernel) => number | undefined): number | undefined => {
  const known = members.map(of).filter((n): n is number => n !== undefined);
  return known.length > 0 ? known.reduce((a, b) => a + b, 0) : undefined;
};

/** A row of all of them; what is of one launch is of the first. */
function together(first: Kernel, members: Kernel[]): Family {
  const sum = (of: (k: Kernel) => number) => members.reduce((n, k) => n + of(k), 0);
  const family: Family = {
    ...first,
    members,
    launches: sum((k) => k.launches),
    requests: sum((k) => k.requests),
    sectors: sum((k) => k.sectors),
    sectors_min: sum((k) => k.sectors_min),
    wavefronts: sum((k) => k.wavefronts),
    wavefronts_min: sum((k) => k.wavefronts_min),
  };
  if (members.some((k) => k.lacks)) family.lacks = true;
  for (const key of ["device_seconds", "timed", "noted", "thread_instructions"] as const) {
    const whole = added(members, (k) => k[key]);
    if (whole !== undefined) family[key] = whole;
  }
  return family;
}

/** In the order of the first kernel of each. */
export function families(kernels: Kernel[]): Family[] {
  const found = new Map<string, Kernel[]>();
  for (const k of kernels) {
    const key = k.family ?? `${k.id}`;
    const members = found.get(key);
    if (members) members.push(k);
    else found.set(key, [k]);
  }
  return [...found.values()].flatMap((members) =>
    members[0] === undefined ? [] : [together(members[0], members)],
  );
}
