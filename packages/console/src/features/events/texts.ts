import { defineTexts, currentLanguage, onLanguage } from "../../lib/i18n.ts";
import { en } from "./locale/en.ts";

export const { useTexts } = defineTexts(en, async () => (await import("./locale/zh.ts")).zh);
export type Texts = ReturnType<typeof useTexts>;

let sentences: Readonly<Record<string, string>> = {};

onLanguage(async () => {
  ({ sentences } = await import("./locale/sentences.zh.ts"));
});

/** Says when events of a type happen, in the reader's language; the gateway's own sentence for unknown types. */
export function describeType({ type, summary }: { readonly type: string; readonly summary: string }): string {
  return currentLanguage() === "en" ? summary : (sentences[type] ?? summary);
}
