import { cellValue, type Grid } from "../../data/grid";
import { type Level, rowCells } from "../../data/pyramid";
import { columnWidth, columnX, type Geometry, type Zoom } from "./geometry";

/** Rows without numbers: a pixel each in a small picture, whose columns are then brought to their places. */
export class Far {
  private readonly image: ImageData;
  private readonly pixels: Uint32Array;
  private readonly canvas: OffscreenCanvas;
  private readonly context: OffscreenCanvasRenderingContext2D | null;

  /** `colors` as pixels, by value; those of the levels by what stands in their cells. */
  constructor(
    private readonly grid: Grid,
    private readonly levels: Level[],
    private readonly colors: Uint32Array,
    private readonly levelColors: Uint32Array,
    private readonly height: number,
  ) {
    this.image = new ImageData(rowCells(grid), height + 2);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.canvas = new OffscreenCanvas(this.image.width, this.image.height);
    this.context = this.canvas.getContext("2d");
  }

  draw(c: CanvasRenderingContext2D, g: Geometry, top: number, zoom: Zoom): void {
    const level = this.levels.find((l) => l.step === zoom.step);
    const first = Math.floor(top / zoom.step);
    const there = Math.ceil(this.grid.count / zoom.step) - first;
    const count = Math.min(Math.ceil(this.height / zoom.height) + 1, there, this.image.height);
    if (count <= 0) return;
    for (let r = 0; r < count; r++) {
      if (level) this.ofLevel(level, first + r, r);
      else this.ofGrid(first + r, r);
    }
    this.context?.putImageData(this.image, 0, 0, 0, 0, this.image.width, count);
    this.spread(c, g, count, (first - top / zoom.step) * zoom.height, zoom.height);
  }

  private ofLevel(level: Level, row: number, to: number): void {
    const { width } = this.image;
    for (let k = 0; k < width; k++) {
      const value = level.cells[row * width + k] as number;
      this.pixels[to * width + k] = this.levelColors[value] as number;
    }
  }

  private ofGrid(row: number, to: number): void {
    const { grid } = this;
    let at = to * this.image.width;
    for (let l = 0; l < grid.layers.length; l++) {
      for (let column = 0; column < grid.layout.columns; column++) {
        const value = grid.gap[row] ? 0 : cellValue(grid, row, l, column);
        this.pixels[at++] = this.colors[value] as number;
      }
    }
  }

  private spread(
    c: CanvasRenderingContext2D,
    g: Geometry,
    count: number,
    y: number,
    height: number,
  ): void {
    const { layout, layers } = this.grid;
    c.imageSmoothingEnabled = false;
    for (let l = 0; l < layers.length; l++) {
      for (let column = 0; column < layout.columns; column++) {
        const x = columnX(g, layout, l, column);
        const width = columnWidth(g, layout, column) - (g.cell > 6 ? 1 : 0);
        const from = l * layout.columns + column;
        c.drawImage(this.canvas, from, 0, 1, count, x, y, width, count * height);
      }
    }
  }
}
