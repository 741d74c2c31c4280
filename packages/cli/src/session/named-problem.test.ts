import { ApiProblem, MESSAGE_CODES } from "@fairway/wire";
import { expect, test } from "vitest";
import { withSubject } from "./named-problem.ts";

const refusal = (text: string, code?: string) => new ApiProblem(text, { status: 200, code });
const name = (text: string, input: Parameters<typeof withSubject>[1]) =>
  (withSubject(refusal(text), input) as Error).message;

test.each([
  ["Channel does not exist.", { params: { id: 999 } }, "Channel 999 does not exist."],
  ["The user has been deleted.", { body: { id: 7, action: "enable" } }, "The user 7 has been deleted."],
  ["Log does not exist.", { params: { request_id: "01M8" } }, "Log 01M8 does not exist."],
  ["record not found", { params: { id: 3 } }, "record not found (3)"],
  ["令牌不存在", { params: { id: 3 } }, "令牌不存在 (3)"],
  ["Group 3 does not exist.", { params: { id: 3 } }, "Group 3 does not exist."],
  ["The balance is not known.", { params: { id: 3 } }, "The balance is not known."],
  ["Token does not exist.", {}, "Token does not exist."],
  ["Token does not exist.", { body: { key: "sk-1" } }, "Token does not exist."],
])("%s of %o is: %s", (text, input, named) => expect(name(text, input)).toBe(named));

test("the code and the status of a refusal stay", () => {
  const named = withSubject(refusal("Channel does not exist.", MESSAGE_CODES.channel_not_found), { params: { id: 9 } });
  expect(named).toMatchObject({ key: "channel_not_found", code: MESSAGE_CODES.channel_not_found, status: 200 });
});

test("a lost connection stays what it is", () => {
  const lost = new ApiProblem("not found", { status: 0 });
  expect(withSubject(lost, { params: { id: 9 } })).toBe(lost);
});
