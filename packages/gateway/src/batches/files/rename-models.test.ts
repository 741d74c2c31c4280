import { propertyRuns } from "@fairway/testkit/property-runs";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { UnsentFile } from "../../objects/file-content.ts";
import { renameFileModels } from "./rename-models.ts";

/** A file that arrives in chunks of this many bytes. */
function buildFile(bytes: Buffer, chunkBytes: number): UnsentFile["content"] {
  return {
    size: bytes.length,
    async *open() {
      for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
    },
  };
}

const account = {
  channel: { modelMapping: new Map([["alias", "ä-much-longer-name"]]) },
} as unknown as UnsentFile["account"];

test("lines are renamed however the bytes arrive, and every other byte stays", async () => {
  const line = fc.record({ id: fc.string(), isSpaced: fc.boolean(), isBroken: fc.boolean() });
  const property = fc.asyncProperty(
    fc.array(line, { minLength: 1, maxLength: 8 }),
    fc.integer({ min: 1, max: 90 }),
    async (lines, chunkBytes) => {
      const write = (model: string) =>
        lines
          .map(({ id, isSpaced, isBroken }) => {
            const text = { custom_id: id, model: "alias", body: { messages: [{ model: "alias" }], model } };
            return isBroken
              ? '{"body":{"model":'
              : JSON.stringify(text, null, isSpaced ? " " : "").replaceAll("\n", " ");
          })
          .join("\n");
      const bytes = Buffer.from(write("alias"));
      const file = { content: buildFile(bytes, chunkBytes), purpose: "batch", account } as unknown as UnsentFile;
      const { content } = await renameFileModels(file);
      const sent = Buffer.concat(await Array.fromAsync(content.open()));
      expect(sent.toString()).toBe(write("ä-much-longer-name"));
      expect(sent.length).toBe(content.size);
    },
  );
  await fc.assert(property, { numRuns: propertyRuns(200) });
});
