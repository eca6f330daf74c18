import { signal } from "@preact/signals";
import { type Filter, NO_FILTER } from "../data/filter";

/** One for the lists of findings and of kernels: who looks for bank conflicts does so in both. */
export const filter = signal<Filter>(NO_FILTER);
