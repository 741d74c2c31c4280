import type { Checkout } from "./checkout.ts";
import type { Names } from "./names.ts";

const FIRST_OWN_TYPE = 1005; // lower numbers belong to compatible gateways and to the first four of our own

/** Adds a vendor with the OpenAI protocol; returns the next steps. */
export async function newProvider(checkout: Checkout, { kebab, camel, pascal }: Names): Promise<string> {
  const { allProviders } = await import("../../packages/gateway/src/providers/registry.ts");
  const type = Math.max(FIRST_OWN_TYPE - 1, ...allProviders.map((provider) => provider.type)) + 1;
  checkout.create(
    `packages/gateway/src/providers/vendors/${kebab}/${kebab}.ts`,
    `import { openaiCompatible } from "../../core/openai-compatible.ts";

export const ${camel} = openaiCompatible({
  type: ${type},
  id: "${kebab}",
  label: "${pascal}",
  baseUrl: "https://api.${kebab}.com",
  models: [],
});
`,
  );
  checkout.append(
    "packages/gateway/src/providers/index.ts",
    `export { ${camel} } from "./vendors/${kebab}/${kebab}.ts";\n`,
  );
  return `channel type ${type}: label, base URL and models; vectors in packages/gateway/vectors`;
}
