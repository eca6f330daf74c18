/** Colours for CUDA C++, a line at a time; comments that span lines are told by the caller. */
export type TokenKind = "comment" | "string" | "keyword" | "type" | "number" | "macro" | "plain";
export interface Token {
  kind: TokenKind;
  text: string;
}

const KEYWORDS = new Set(
  `alignas auto break case catch class const constexpr continue default delete do else enum explicit extern
   for friend goto if inline namespace new noexcept operator private protected public register restrict return
   sizeof static static_cast reinterpret_cast struct switch template this throw try typedef typename union using
   virtual volatile while __global__ __device__ __host__ __shared__ __constant__ __managed__ __restrict__
   __launch_bounds__ __forceinline__ __noinline__ true false nullptr`.split(/\s+/),
);
const TYPES = new Set(
  `bool char double float half int long short signed unsigned void size_t int8_t int16_t int32_t int64_t
   uint8_t uint16_t uint32_t uint64_t float2 float3 float4 int2 int3 int4 uint2 uint3 uint4 double2 dim3
   threadIdx blockIdx blockDim gridDim warpSize`.split(/\s+/),
);
const PATTERN =
  /(?<comment>\/\/.*|\/\*.*?(?:\*\/|$))|(?<string>"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)|(?<number>\b\d[\w.]*)|(?<macro>^\s*#\s*\w+)|(?<word>[A-Za-z_]\w*)/g;

function kindOf(groups: Record<string, string | undefined>): TokenKind {
  if (groups.comment !== undefined) return "comment";
  if (groups.string !== undefined) return "string";
  if (groups.number !== undefined) return "number";
  if (groups.macro !== undefined) return "macro";
  const word = groups.word ?? "";
  return KEYWORDS.has(word) ? "keyword" : TYPES.has(word) ? "type" : "plain";
}

export function highlight(line: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (const match of line.matchAll(PATTERN)) {
    const start = match.index ?? 0;
    if (start > at) tokens.push({ kind: "plain", text: line.slice(at, start) });
    tokens.push({ kind: kindOf(match.groups ?? {}), text: match[0] });
    at = start + match[0].length;
  }
  if (at < line.length) tokens.push({ kind: "plain", text: line.slice(at) });
  return tokens;
}
