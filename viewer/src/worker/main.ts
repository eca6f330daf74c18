/** Unpacks heat maps, and compares the warps of a launch, off the main thread: one question, one answer. */
import { type Ask, answer, handedOver, type Numbered, type Reply } from "../data/explore/ask";
import { buffersOf } from "../data/heat";
import type { Answer, Question } from "../data/maps";
import { readMap } from "../data/read";

interface Scope {
  onmessage: (event: MessageEvent<Question | Numbered<Ask>>) => void;
  postMessage(
    answer: Answer | Numbered<Reply> | { id: number; error: string },
    transfer: Transferable[],
  ): void;
}
const scope = globalThis as unknown as Scope;

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function map({ part, map }: Question): void {
  readMap(part, map).then(
    (table) => scope.postMessage({ table }, buffersOf(table)),
    (error: unknown) => scope.postMessage({ error: textOf(error) }, []),
  );
}

scope.onmessage = ({ data }) => {
  if (!("explore" in data)) {
    map(data);
    return;
  }
  answer(data.explore).then(
    (explore) => scope.postMessage({ id: data.id, explore }, handedOver(explore)),
    (error: unknown) => scope.postMessage({ id: data.id, error: textOf(error) }, []),
  );
};
