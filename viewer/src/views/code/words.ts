import type { Form, KernelCode, Related, Selected } from "../../data/code";
import type { Kernel } from "../../data/payload";
import { plural } from "../../widgets/format";

/** In the order of their columns. */
export const FORMS: readonly Form[] = ["ptx", "sass"];

export const FORM_NAMES: Record<Form, string> = { ptx: "PTX", sass: "SASS" };

const other = (form: Form): string => FORM_NAMES[form === "ptx" ? "sass" : "ptx"];

interface Known {
  apart: string | undefined; // why instructions of the two forms belong together by source line only
  lines: boolean; // of some instruction of the column the line is known
}

/** What the marked instructions of a column are to what is selected. */
export function relationWords(
  form: Form,
  { how, on, near }: Related,
  selected: Selected,
  { apart, lines }: Known,
): string {
  if (how === "line" && !lines) return "of no line: the program was compiled without -lineinfo";
  if (selected.line === undefined && !selected.row) return "";
  const line = selected.line === undefined ? "no known line" : `line ${selected.line}`;
  const byLine = `${plural(on.size, "instruction")} of ${line}`;
  switch (how) {
    case "itself":
      return near.size > 0 ? `the selected one; ${near.size} more of ${line}` : "the selected one";
    case "ptx":
      return form === "sass"
        ? `${plural(on.size, "instruction")} made from the selected PTX`
        : `what the selected SASS was made from`;
    case "none":
      return form === "sass"
        ? "nothing was made from the selected PTX alone"
        : "the selected SASS was made from no single PTX instruction";
    default:
      return selected.row && selected.form !== form
        ? `${byLine}, by source line only${apart ? `: ${apart}` : ""}`
        : byLine;
  }
}

function smWords(sm: number, device: number | undefined): string {
  if (device === undefined || device === sm) return `for sm_${sm}`;
  return `for sm_${sm}: the program has none for the device's sm_${device}`;
}

/** What a column's code is, and that it was not counted; `of` is the kernel. */
export function formWords({ form, listing, measured }: KernelCode, of: Kernel): string {
  const sm = of.machine_code;
  const made = form === "sass" ? (listing?.sm ?? sm) : undefined;
  const parts = [
    made === undefined ? "" : smWords(made, listing?.device_sm),
    listing && form === "ptx" ? "as ptxas kept it" : "",
    measured ? "" : of.code_form ? `no counts: its ${other(form)} was measured` : "not measured",
  ];
  return parts.filter(Boolean).join(" · ");
}
