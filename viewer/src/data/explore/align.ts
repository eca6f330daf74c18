/** Which instructions of two warps belong together: a shortest edit script between what they executed (Myers 1986), so
 * that one more iteration does not set all that follows against something else. */

const MOST_EDITS = 1000; // beyond, what is left is taken as it comes
const WINDOW = 64;

export interface Alignment {
  match: Int32Array; // by operation of the first warp: that of the second; -1: it has none
  missed: Uint32Array; // operations of the second before each one of the first that have none there; one more at the end
}

/** Matches within a[from..a1) and b[bFrom..b1) that come next in a window: neither shortest nor symmetric, but linear. */
function greedy(
  a: Uint32Array,
  b: Uint32Array,
  i0: number,
  a1: number,
  j0: number,
  b1: number,
  match: Int32Array,
) {
  let j = j0;
  for (let i = i0; i < a1; i++) {
    for (let k = j; k < Math.min(b1, j + WINDOW); k++) {
      if (a[i] !== b[k]) continue;
      match[i] = k;
      j = k + 1;
      break;
    }
  }
}

/** Goes the way back through the fronts of Myers' search, and notes what was alike on it. */
function walkBack(
  fronts: Int32Array[],
  x: number,
  y: number,
  i0: number,
  j0: number,
  match: Int32Array,
) {
  for (let d = fronts.length - 1; d > 0; d--) {
    const before = fronts[d - 1] as Int32Array; // of diagonals -(d - 1) .. d - 1
    const at = (k: number) => (Math.abs(k) <= d - 1 ? (before[k + d - 1] as number) : -1);
    const k = x - y;
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const from = down ? at(k + 1) : at(k - 1);
    const start = down ? from : from + 1;
    while (x > start) match[i0 + --x] = j0 + --y;
    x = from;
    y = from - (down ? k + 1 : k - 1);
  }
  while (x > 0) match[i0 + --x] = j0 + --y;
}

function myers(
  a: Uint32Array,
  b: Uint32Array,
  i0: number,
  a1: number,
  j0: number,
  b1: number,
  match: Int32Array,
) {
  const [n, m] = [a1 - i0, b1 - j0];
  const fronts: Int32Array[] = [];
  for (let d = 0; d <= Math.min(MOST_EDITS, n + m); d++) {
    const front = new Int32Array(2 * d + 1).fill(-1);
    const before = fronts[d - 1];
    const at = (k: number) => (before && Math.abs(k) <= d - 1 ? (before[k + d - 1] as number) : -1);
    for (let k = -d; k <= d; k += 2) {
      let x =
        d === 0 ? 0 : k === -d || (k !== d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      let y = x - k;
      while (x < n && y < m && a[i0 + x] === b[j0 + y]) {
        x++;
        y++;
      }
      front[k + d] = x;
      if (x >= n && y >= m) {
        fronts.push(front);
        walkBack(fronts, n, m, i0, j0, match);
        return;
      }
    }
    fronts.push(front);
  }
  greedy(a, b, i0, a1, j0, b1, match);
}

/** Aligns two lists of pcs. */
export function align(a: Uint32Array, b: Uint32Array): Alignment {
  const match = new Int32Array(a.length).fill(-1);
  let [first, a1, b1] = [0, a.length, b.length];
  while (first < a1 && first < b1 && a[first] === b[first]) match[first] = first++;
  while (a1 > first && b1 > first && a[a1 - 1] === b[b1 - 1]) match[--a1] = --b1;
  if (a1 > first && b1 > first) myers(a, b, first, a1, first, b1, match);
  const missed = new Uint32Array(a.length + 1);
  let next = 0;
  for (let i = 0; i <= a.length; i++) {
    const j = i < a.length ? (match[i] as number) : b.length;
    if (j < 0) continue;
    missed[i] = j - next;
    next = j + 1;
  }
  return { match, missed };
}
