import { copyText } from "../../lib/clipboard.ts";
import { createStore } from "../../lib/store.ts";

/** A text that the browser refused to copy, while the dialog shows it. */
export const uncopied = createStore<string | undefined>(undefined);

/** Copies text; if the browser refuses, a dialog shows it to be copied by hand, and the result is false. */
export async function copyOrShow(text: string): Promise<boolean> {
  const isCopied = await copyText(text);
  if (!isCopied) uncopied.write(text);
  return isCopied;
}
