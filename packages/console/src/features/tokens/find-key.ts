import { tokenFind } from "@fairway/wire";
import { call } from "../../lib/http.ts";
import { toastProblem } from "../../ui/feedback/toaster.ts";

let asked = "";

/** Opens the page of the token of a pasted key; a text that found nothing is asked once. */
export async function openTokenOfKey(key: string, open: (address: string) => void): Promise<void> {
  if (key === asked) return;
  asked = key;
  try {
    const { id } = await call(tokenFind, { body: { key } });
    asked = "";
    open(`/token/${id}`);
  } catch (problem) {
    toastProblem(problem);
  }
}
