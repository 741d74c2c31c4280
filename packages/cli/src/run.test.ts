import { expect, test } from "vitest";
import type { Io } from "./core/io.ts";
import { runWords } from "./run.ts";

const nothing = () => undefined;

async function said(words: string): Promise<{ code: number; text: string }> {
  let text = "";
  const write = (part: string) => void (text += part);
  const io: Io = {
    env: {},
    width: undefined,
    isTerminal: false,
    isPiped: true,
    nowSeconds: () => 0,
    useUtc: nothing,
    closeInput: nothing,
    write,
    out: write,
    room: nothing,
    note: write,
  };
  return { code: await runWords(words.split(" "), io), text };
}

test.each(["channel", "channel list", "kube gitops pause"])("the help of `%s` is written", async (command) => {
  const { code, text } = await said(`${command} --help`);
  expect(code).toBe(0);
  expect(text).toMatch(new RegExp(`^Usage: fairway ${command.replace("channel", "channel\\S*")} `));
});

test.each(["channel list --odd", "kube gitops pause --odd"])("`%s` is a mistake in the words", async (words) => {
  const { code, text } = await said(words);
  expect(code).toBe(2);
  expect(text).toContain("unknown option '--odd'");
});
