import { beforeEach, expect, test } from "vitest";
import { ApiProblem, HttpProblem, OfflineProblem } from "../../lib/problems.ts";
import { problemText, toast, toastProblem, toasts } from "./toaster.ts";

beforeEach(() => toasts.write([]));

test("each kind of failure has its text", () => {
  const texts = [
    new ApiProblem("Token does not exist.", "token_not_found"),
    new HttpProblem(429, ""),
    new HttpProblem(500, ""),
    new HttpProblem(405, ""),
    new HttpProblem(502, "Bad Gateway"),
    new HttpProblem(200, "OK"),
    new OfflineProblem(new Error("refused")),
  ].map(problemText);
  expect(texts).toEqual([
    "Token does not exist.",
    "Error: Too many requests, please try again later!",
    "Error: Internal server error, please contact the administrator!",
    "This site is for demonstration purposes only, no server-side!",
    "Error: Bad Gateway",
    "The answer of the server cannot be read.",
    "Unable to connect to the server!",
  ]);
});

test("equal texts merge with a counter, and at most three are shown", () => {
  toast("error", "a");
  toast("error", "a");
  for (const text of ["b", "c", "d"]) toast("info", text);
  expect(toasts.read().map(({ text, count }) => [text, count])).toEqual([
    ["b", 1],
    ["c", 1],
    ["d", 1],
  ]);
  toast("info", "d");
  expect(toasts.read().at(-1)).toMatchObject({ text: "d", count: 2 });
});

test("a lost session shows nothing, because the login page says it", () => {
  toastProblem(new HttpProblem(401, "Not logged in"));
  expect(toasts.read()).toEqual([]);
});

test("a rate limit says how long to wait", () => {
  toastProblem(new HttpProblem(429, "", { retryAfter: 12 }));
  expect(toasts.read()[0]).toMatchObject({ kind: "error", detail: "You can try again in 12 s." });
});
