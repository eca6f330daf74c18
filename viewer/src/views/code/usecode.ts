import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type KernelCode, loadCode, loadForm } from "../../data/code";
import type { Model } from "../../data/model";
import type { Code, Kernel } from "../../data/payload";

/** What is loaded for `of`; undefined until it is there. */
function useLoaded(of: object | undefined, load: () => Promise<Code[]>): Code[] | undefined {
  const code = useSignal<{ of: object | undefined; code: Code[] } | undefined>(undefined);
  useEffect(() => {
    let current = true;
    const show = (loaded: Code[]) => {
      if (current) code.value = { of, code: loaded };
    };
    load().then(show, () => show([]));
    return () => {
      current = false;
    };
  }, [of]);
  return code.value && code.value.of === of ? code.value.code : undefined;
}

/** The instructions of a kernel that were measured, unpacked. */
export const useCode = (m: Model, kernel: Kernel): Code[] | undefined =>
  useLoaded(kernel, () => loadCode(m, kernel));

/** The same of one of its forms; `of` stays the same object as long as the code does. */
export const useForm = (m: Model, of: KernelCode | undefined): Code[] | undefined =>
  useLoaded(of, () => loadForm(m, of));
