import { computed, signal } from "@preact/signals";
import { type Grid, rowAt, rowEnd } from "../../data/grid";
import { rowsShown, TEXT_HEIGHT, type Zoom, zooms } from "./geometry";

const MOST_HEIGHT = 560;
const FURNITURE = 160; // pixels of a window that are left for what stands around a map

/** What of a grid is in sight, and how wheel, pointer, keys and buttons change it. */
export class Sight {
  readonly top = signal(0); // row, with a fraction
  readonly level = signal(0); // of the zooms; 0: cells with numbers
  readonly height: number; // pixels of the rows' part
  readonly zooms: Zoom[];
  readonly zoom = computed(() => this.zooms[this.level.value] as Zoom);

  constructor(readonly grid: Grid) {
    const most = Math.min(grid.count * TEXT_HEIGHT, MOST_HEIGHT, innerHeight - FURNITURE);
    this.height = Math.max(TEXT_HEIGHT, most);
    this.zooms = zooms(grid.count, this.height);
  }

  /** Rows in sight. */
  get rows(): number {
    return rowsShown(this.zoom.value, this.height);
  }

  /** Rows above the last page. */
  private get most(): number {
    return Math.max(0, this.grid.count - this.rows);
  }

  scrollTo(top: number): void {
    this.top.value = Math.min(this.most, Math.max(0, top));
  }

  /** False at an end, where nothing moves. */
  scrollBy(pixels: number): boolean {
    const before = this.top.value;
    this.scrollTo(before + rowsShown(this.zoom.value, pixels));
    return this.top.value !== before;
  }

  /** Nearer or farther; the row at `y` stays where it is. */
  zoomTo(level: number, y = this.height / 2): void {
    const row = this.top.value + rowsShown(this.zoom.value, y);
    this.level.value = Math.min(this.zooms.length - 1, Math.max(0, level));
    this.scrollTo(row - rowsShown(this.zoom.value, y));
  }

  zoomBy(steps: number, y?: number): void {
    this.zoomTo(this.level.value + steps, y);
  }

  /** The row at a height; it may lie behind the last one. */
  rowAt(y: number): number {
    return Math.floor(this.top.value + rowsShown(this.zoom.value, y));
  }

  center(sector: number): void {
    this.scrollTo(rowAt(this.grid, sector) - Math.floor(this.rows / 2));
  }

  /** Shows the place that another sight showed, as near, where rows are laid out anew. */
  follow(other: Sight): void {
    const all = other.level.peek() === other.zooms.length - 1 && other.level.peek() > 0;
    this.zoomTo(all ? this.zooms.length - 1 : other.level.peek(), 0);
    this.scrollTo(rowAt(this.grid, other.sectors.peek().from));
  }

  /** Scrolls as little as it takes to see a row. */
  reveal(row: number): void {
    if (row < this.top.value) this.scrollTo(row);
    else if (row + 1 > this.top.value + this.rows) this.scrollTo(row + 1 - this.rows);
  }

  /** The window on the strip of all rows, in pixels. */
  get window(): { y: number; height: number } {
    const part = Math.min(1, this.rows / Math.max(1, this.grid.count));
    const height = Math.max(8, part * this.height);
    const share = this.most > 0 ? this.top.value / this.most : 0;
    return { y: Math.min(1, share) * (this.height - height), height };
  }

  /** Puts the window's upper edge at `y`. */
  dragWindow(y: number): void {
    const room = Math.max(1, this.height - this.window.height);
    this.scrollTo((y / room) * this.most);
  }

  /** The sectors from the first row in sight to the last. */
  readonly sectors = computed(() => {
    const { grid } = this;
    const first = Math.floor(this.top.value);
    const last = Math.min(grid.count - 1, Math.floor(this.top.value + this.rows));
    return { from: grid.first[first] ?? 0, to: rowEnd(grid, last) };
  });
}
