import { expect, it } from "vitest";
import { jsonBody } from "../../relay/body/read-body.ts";
import { geminiGenerate } from "./index.ts";

it.each([[["be brief"]], [[{ text: "be brief" }]], [{ text: "be brief" }], [{ parts: ["be brief"] }]])(
  "filters read the instruction that a client writes as %j",
  (system_instruction) => {
    const json = { contents: [{ parts: [{ text: "hi" }] }], system_instruction };
    const body = jsonBody(Buffer.from(JSON.stringify(json)));
    expect(geminiGenerate.promptWords?.(body)).toEqual(["be brief", "hi"]);
  },
);
