import { describe, expect, it } from "vitest";
import { kling } from "./kling.ts";

function priced(body: Record<string, string | number>) {
  return kling.videos?.names({ action: "text2video", body });
}

describe("the price of a video", () => {
  it.each([
    [{}, "kling-video_kling-v1_std_5"],
    [{ mode: "pro", duration: 10 }, "kling-video_kling-v1_pro_10"],
    [{ mode: "", duration: "" }, "kling-video_kling-v1_std_5"],
  ])("of %j is that of %s", (body, name) => {
    expect(priced(body)?.priced).toBe(name);
  });

  it.each([
    ["mode", "PRO"],
    ["mode", " pro"],
    ["duration", "10.0"],
    ["duration", "010"],
    ["duration", 7.5],
  ])("is not found by %s %j, which the vendor may understand", (name, value) => {
    expect(() => priced({ [name]: value })).toThrow(new RegExp(`${name} must be`));
  });
});
