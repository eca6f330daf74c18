/** Unpacks heat maps off the main thread: one question, one answer. */
import { buffersOf } from "../data/heat";
import type { Answer, Question } from "../data/maps";
import { readMap } from "../data/read";

interface Scope {
  onmessage: (event: MessageEvent<Question>) => void;
  postMessage(answer: Answer, transfer: Transferable[]): void;
}
const scope = globalThis as unknown as Scope;

scope.onmessage = ({ data }) => {
  readMap(data.part, data.map).then(
    (table) => scope.postMessage({ table }, buffersOf(table)),
    (error: unknown) =>
      scope.postMessage({ error: error instanceof Error ? error.message : String(error) }, []),
  );
};
