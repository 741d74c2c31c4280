import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { noteInChinese } from "./log-notes.zh.ts";

const RESOURCES = new URL("../../../../gateway/src/resources/", import.meta.url);
/** Files that write sentences into the log, and how these sentences begin in the code. */
const WRITERS = ["users/manage-route.ts", "users/create.ts", "users/admin-routes.ts", "users/self-routes.ts"]
  .concat("users/change-quota.ts", "options/store.ts", "wallet/store.ts", "auth/email-routes.ts", "logs/routes.ts")
  .map((file) => readFileSync(new URL(file, RESOURCES), "utf8"))
  .join("\n");
const SENTENCE =
  /(?:content(?::| =)|return|context\.ip,|(?:disable|enable|delete|promote|demote):) (["`])([A-Z][a-z]+ .+?)\1/g;

test("every sentence that the gateway writes into the log has a Chinese one, with its amounts", () => {
  const sentences = [...WRITERS.matchAll(SENTENCE)].map(([, , text = ""]) => text.replaceAll(/\$\{.*?\}/g, "42"));
  expect(sentences.length).toBeGreaterThan(13);
  for (const sentence of sentences) {
    const note = noteInChinese(sentence);
    expect(note, sentence).toMatch(/[\u4e00-\u9fff]/);
    expect(note.match(/42/g)?.length ?? 0, sentence).toBe(sentence.match(/42/g)?.length ?? 0);
  }
});

test("a remark after a change of the balance stays, and so do texts of people", () => {
  const change = "The administrator changed the user quota from $1.00 to $2.50: thank you";
  expect(noteInChinese(change)).toBe("管理员将用户额度从 $1.00 改为 $2.50: thank you");
  expect(noteInChinese("赠送 $5.00")).toBe("赠送 $5.00");
});
