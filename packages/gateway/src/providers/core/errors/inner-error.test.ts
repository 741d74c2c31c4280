import { describe, expect, it } from "vitest";
import { innerError } from "./inner-error.ts";

const filtered = { violence: { filtered: true, severity: "medium" }, jailbreak: { detected: false, filtered: false } };

describe("innerError", () => {
  it.each(["content_filter_result", "content_filter_results"])("keeps the verdicts of %s", (name) => {
    const innererror = { code: "ResponsibleAIPolicyViolation", [name]: filtered };
    expect(innerError({ innererror })).toEqual(innererror);
  });

  it("leaves out free text, lists and what is nested too deep", () => {
    const innererror = {
      code: "see https://internal.example",
      revised_prompt: "a cat",
      content_filter_result: {
        hate: { severity: "high on 10.0.0.1", filtered: true, more: { again: { deeper: true } } },
        custom_blocklists: [{ id: "secret-list", filtered: true }],
      },
    };
    expect(innerError({ innererror })).toEqual({ content_filter_result: { hate: { filtered: true, more: {} } } });
  });

  it.each([{}, { innererror: "text" }, { innererror: {} }, { innererror: { code: 7 } }])(
    "is undefined for %j",
    (error) => {
      expect(innerError(error)).toBeUndefined();
    },
  );
});
