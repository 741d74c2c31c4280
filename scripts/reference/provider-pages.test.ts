import { expect, it } from "vitest";
import { allProviders } from "../../packages/gateway/src/providers/registry.ts";
import { providerPages } from "./provider-pages.ts";

const pages = providerPages();

it("writes one page for each provider", () => {
  expect(Object.keys(pages)).toHaveLength(allProviders.length);
});

it("says of every provider that serves calls how at least one of them reaches it", () => {
  const silent = Object.entries(pages).filter(([, text]) => !/^\| `\/v1/m.test(text) && !text.includes("as [tasks]"));
  expect(silent.map(([name]) => name)).toEqual([]);
});

it("says what passes as it is and what is converted, by model where the model decides", () => {
  expect(pages["claude"]).toContain("| `/v1/messages` | as it is |");
  expect(pages["claude"]).toContain("| `/v1/chat/completions` | converted to `anthropic-messages` |");
  expect(pages["aws"]).toContain("| `/v1/messages` | as it is, or converted to the provider's own `aws-converse` |");
});

it("names key, base URL, regions and settings from the record", () => {
  expect(pages["claude"]).toContain("| Key | `sk-ant-...` |");
  expect(pages["vertex"]).toMatch(/Free field \(`other`\) \| Region/);
  expect(pages["compatible"]).toContain("| Base URL | required |");
  expect(pages["compatible"]).toContain("| Setting `drop_params` | a list of texts |");
});
