import { render } from "preact";
import { decode, reportTexts } from "./data/decode";
import { buildModel } from "./data/model";
import { home } from "./state/route";
import { App } from "./views/app";
import { seat } from "./views/explore/guest";
import { baseName } from "./widgets/format";
import "./state/theme";

function Failure({ text }: { text: string }) {
  return (
    <div class="empty" role="alert">
      <h1>This report cannot be shown</h1>
      <p>{text}</p>
      <p class="muted">
        It needs a browser of 2023 or later (Chrome, Edge, Firefox 113, Safari 16.4) and a whole
        file.
      </p>
    </div>
  );
}

async function start(root: HTMLElement): Promise<void> {
  try {
    const text = document.getElementById("payload")?.textContent ?? "";
    const [own = "", other] = reportTexts(text);
    const m = buildModel(await decode(own, 0));
    if (other !== undefined) await seat(other);
    document.title = `${baseName(m.payload.program.executable)} – warplens`;
    if (m.payload.explorer) home.value = { view: "explore", id: undefined, query: {} };
    else if (m.payload.groups.length > 0) home.value = { view: "finding", id: 1, query: {} };
    root.replaceChildren();
    render(<App m={m} />, root);
  } catch (error) {
    root.replaceChildren();
    render(<Failure text={error instanceof Error ? error.message : String(error)} />, root);
  }
}

const root = document.getElementById("app");
if (root) void start(root);
