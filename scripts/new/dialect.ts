import type { Checkout } from "./checkout.ts";
import type { Names } from "./names.ts";
import { dialect, dialectTest } from "./templates/dialect.ts";

const GATEWAY = "packages/gateway/src";
const DIALECTS = `${GATEWAY}/dialects`;

/** Adds a client protocol with one endpoint; returns the next steps. */
export function newDialect(checkout: Checkout, names: Names): string {
  const { kebab, camel, snake } = names;
  checkout.create(`${DIALECTS}/endpoints/${kebab}.ts`, dialect(names));
  checkout.create(`${DIALECTS}/endpoints/${kebab}.test.ts`, dialectTest(names));
  const types = `${DIALECTS}/core/types.ts`;
  checkout.insertBefore(types, / {2}\| "count_tokens";/, `  | "${kebab}"\n`);
  checkout.insertBefore(types, / {2}\| "anthropic-messages"/, `  | "${kebab}"\n`);
  const index = `${DIALECTS}/index.ts`;
  checkout.insertBefore(index, /import type \{ Dialect,/, `import { ${camel} } from "./endpoints/${kebab}.ts";\n`);
  checkout.insertBefore(index, / {2}rerank,\n\];/, `  ${camel},\n`);
  checkout.insertBefore(`${DIALECTS}/members.ts`, / {2}rerank: RERANK,/, `  "${kebab}": plain("model input group"),\n`);
  const path = `/v1/${snake}`;
  checkout.insertBefore(
    `${GATEWAY}/relay/ingress/routes.ts`,
    / {2}\["\/v1\/rerank", /,
    `  ["${path}", { operation: "${kebab}", dialect: "${kebab}" }],\n`,
  );
  const compatible = `${GATEWAY}/providers/core/openai-compatible.ts`;
  checkout.insertBefore(compatible, / {2}rerank: \["rerank"/, `  "${kebab}": ["${kebab}", "${path}"],\n`);
  checkout.insertBefore(`${GATEWAY}/billing/pricing/estimate.ts`, / {4}case "rerank":\n/, `    case "${kebab}":\n`);
  return `members and usage of the protocol; the vendors that have it; vectors in packages/gateway/vectors`;
}
