import type { MessageKey } from "@fairway/wire";
import { currentLanguage, onLanguage } from "../i18n.ts";

/** The Chinese texts; they load with that language. */
interface Chinese {
  inChinese(key: MessageKey, text: string): string;
  ruleInChinese(text: string): string;
  noteInChinese(text: string): string;
}

let chinese: Chinese | undefined;

onLanguage(async () => {
  const [messages, rules, notes] = await Promise.all([
    import("./server-messages.zh.ts"),
    import("./server-rules.zh.ts"),
    import("./log-notes.zh.ts"),
  ]);
  chinese = { ...messages, ...rules, ...notes };
});

/** Translates a server message if its code is known. */
export function serverMessage(key: MessageKey | undefined, text: string): string {
  return key !== undefined && chinese && currentLanguage() === "zh" ? chinese.inChinese(key, text) : text;
}

/** Translates the rule of an input. */
export function ruleText(text: string): string {
  return chinese && currentLanguage() === "zh" ? chinese.ruleInChinese(text) : text;
}

/** Translates a text that the gateway wrote into a row of the log. */
export function logNote(text: string): string {
  return chinese && currentLanguage() === "zh" ? chinese.noteInChinese(text) : text;
}
