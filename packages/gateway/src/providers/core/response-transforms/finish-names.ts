import type { ResponseTransform } from "../types.ts";
import { finishReasons, onEvent } from "./each-choice.ts";

/** Renames a vendor's own finish reasons to those of the protocol. */
export function finishNames(names: Readonly<Record<string, string>>): ResponseTransform {
  const edit = finishReasons(names);
  return {
    name: "names of finish reasons",
    marks: Object.keys(names).map((name) => `"${name}"`),
    answer: edit,
    stream: () => onEvent(edit),
  };
}
