import type { AuditRow } from "@fairway/wire";
import { buildSentence, parseTarget } from "./sentence.ts";
import { useTexts } from "./texts.ts";

/** Describes a change in words: `created token build-bot`; undefined for calls without words. */
export function useSentence(): (row: AuditRow) => string | undefined {
  const t = useTexts();
  return (row) => {
    const sentence = buildSentence(row);
    if (sentence === undefined) return undefined;
    const { name } = sentence;
    const text = "words" in sentence ? t(sentence.words, { name }) : t(sentence.verb, { noun: t(sentence.noun), name });
    return text.trim();
  };
}

/** Returns kind and number of a change's target, in the reader's language. */
export function useTarget(): (target: string) => string {
  const t = useTexts();
  return (target) => {
    const { noun, name } = parseTarget(target);
    return noun === undefined ? target : `${t(noun)} ${name}`;
  };
}
