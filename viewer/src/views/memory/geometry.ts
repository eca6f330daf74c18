/** Where things stand in the pictures of memory, in pixels. */
export const ROW = 20; // of an object
export const BAR = 12; // of its life within the row
export const LANE = 12; // of a stream's or thread's operations
export const CURVE = 150; // height of the curve
export const TOP = 18; // above it, for the peak's label
export const AXIS = 20; // below, for the axis
export const RIGHT = 10; // margin

/** The width of the names at the left. */
export const gutter = (width: number): number => (width < 560 ? 104 : 216);

export const plotWidth = (width: number): number => Math.max(1, width - gutter(width) - RIGHT);
