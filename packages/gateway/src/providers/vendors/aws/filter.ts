import { listBetas, BETA_HEADER } from "../anthropic/host-filter.ts";
import { messagesFilter } from "../anthropic/filter.ts";
import { findHost } from "../anthropic/find-host.ts";
import { omitMembers } from "../../../dialects/core/json-edit.ts";
import type { HostFilter } from "../../core/types.ts";

const filter = messagesFilter(({ baseUrl }) =>
  findHost(baseUrl) === "bedrock-mantle" ? "bedrock-mantle" : "bedrock-invoke",
);

/** The filter of Bedrock, where Anthropic's betas are in the body. */
export const bedrockFilter: HostFilter = {
  ...filter,
  apply(request, target) {
    const { body, headers, dropped } = filter.apply(request, target);
    const anthropic_beta = listBetas({ body, headers });
    const { [BETA_HEADER]: _beta, ...others } = headers;
    const { anthropic_version, ...rest } = omitMembers(body, ["anthropic_beta"]);
    const sent = anthropic_beta.length === 0 ? body : { anthropic_version, anthropic_beta, ...rest };
    return { body: sent, headers: others, dropped };
  },
};
