import { TEXT_HEIGHT } from "./geometry";

const FONT = 'ui-monospace, "SF Mono", Menlo, Consolas, monospace';

/** Cells with their numbers, each drawn once: copying a picture is far cheaper than drawing text. */
export class Sprites {
  private readonly known = new Map<string, OffscreenCanvas>();

  constructor(
    private readonly colors: string[],
    private readonly inks: string[],
    private readonly scale: number,
  ) {}

  draw(
    c: CanvasRenderingContext2D,
    value: number,
    text: string,
    bold: boolean,
    width: number,
    x: number,
    y: number,
  ): void {
    const key = `${value} ${text} ${bold} ${width}`;
    let sprite = this.known.get(key);
    if (!sprite) {
      sprite = this.make(value, text, bold, width);
      this.known.set(key, sprite);
    }
    c.drawImage(sprite, x, y, width, TEXT_HEIGHT - 2);
  }

  private make(value: number, text: string, bold: boolean, width: number): OffscreenCanvas {
    const height = TEXT_HEIGHT - 2;
    const sprite = new OffscreenCanvas(
      Math.max(1, Math.round(width * this.scale)),
      Math.round(height * this.scale),
    );
    const c = sprite.getContext("2d");
    if (!c) return sprite;
    c.scale(this.scale, this.scale);
    c.fillStyle = this.colors[value] ?? "";
    c.fillRect(0, 0, width, height);
    c.fillStyle = this.inks[value] ?? "";
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.font = `${bold ? "600" : ""} ${width < 18 ? 9 : 11}px ${FONT}`;
    c.fillText(text, width / 2, height / 2 + 0.5, width);
    return sprite;
  }
}
