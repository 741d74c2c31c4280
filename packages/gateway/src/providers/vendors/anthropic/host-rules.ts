// What hosts of the Messages protocol accept from its newest clients. The rules were gathered in November 2026 from
// vendors' pages, tables of other gateways and reports of refusals. Acceptance also differs by model.

/** Names of betas by how they are treated. */
export interface BetaRules {
  /** Treatment of names that are in no list. */
  readonly unknown: "forward" | "drop";
  readonly forward?: readonly string[];
  /** Names that the host calls differently, with its own names. */
  readonly rename?: Readonly<Record<string, string>>;
  readonly drop?: readonly string[];
}

/** Members of the body by their paths; `tools[].` precedes those of a tool. */
export interface MemberRules {
  readonly drop?: readonly string[];
  /** If set, every other member is removed. */
  readonly keep?: readonly string[];
  /** Members that the host accepts only with a beta. */
  readonly dropWithoutBeta?: Readonly<Record<string, readonly string[]>>;
}

/** Types of tools; `*` stands for the rest of a name. */
export interface ToolRules {
  readonly unknown: "keep" | "drop";
  readonly types?: readonly string[];
  readonly drop?: readonly string[];
}

export interface HostRules {
  readonly betas: BetaRules;
  readonly members: MemberRules;
  readonly tools: ToolRules;
  /** True if cache marks may have a `scope`. */
  readonly hasCacheScope: boolean;
}

export type MessagesHost =
  | "anthropic"
  | "foundry"
  | "bedrock-invoke"
  | "bedrock-mantle"
  | "vertex"
  | "openrouter"
  | "deepseek"
  | "kimi"
  | "glm"
  | "minimax"
  | "qwen"
  | "other";

/** Members that need one of these betas; a host that refuses the beta also refuses the member. */
export const MEMBERS_OF_BETAS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^context-management-/, ["context_management"]],
  [/^mcp-client-/, ["mcp_servers"]],
  [/^fast-mode-/, ["speed"]],
  [/^structured-outputs-/, ["output_format"]],
  [/^prompt-caching-scope-/, ["cache_control.scope"]],
  [/^(?:tool-search-tool|advanced-tool-use)-/, ["tools[].defer_loading"]],
  [/^(?:tool-examples|advanced-tool-use)-/, ["tools[].input_examples"]],
];

/** Betas without which the vendor's own host refuses a tool. */
export const BETA_OF_TOOLS: Readonly<Record<string, string>> = {
  code_execution_20250825: "code-execution-2025-08-25",
  mcp_toolset: "mcp-client-2025-11-20",
  web_fetch_20250910: "web-fetch-2025-09-10",
};

/**
 * Blocks of a conversation that a host reads only with one of these betas; without them, part of the conversation is
 * lost.
 */
export const BLOCKS_OF_BETAS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^compact-/, ["compaction"]],
  [/^mid-conversation-tool-changes-/, ["tool_addition", "tool_removal"]],
  [/^mcp-client-/, ["mcp_tool_use", "mcp_tool_result"]],
];

const CLIENT_TOOLS = ["custom", "bash_*", "text_editor_*", "memory_*", "computer_*", "tool_search_tool_*"] as const;
const SEARCH_BY_DEFERRAL = { "advanced-tool-use-2025-11-20": "tool-search-tool-2025-10-19" } as const;
const NEXT_TO_BETAS = {
  "tool-search-tool-2025-10-19": ["tools[].defer_loading"],
  "context-management-2025-06-27": ["context_management"],
} as const;
const COMPUTER = ["computer-use-2025-01-24", "computer-use-2025-11-24"] as const;

/** https://api-docs.deepseek.com/guides/anthropic_api: unknown types of tools are refused, the rest is ignored. */
const DEEPSEEK: HostRules = {
  betas: { unknown: "drop" },
  members: { drop: ["container", "mcp_servers", "context_management", "service_tier"] },
  tools: { unknown: "drop", types: ["custom", "web_search_20250305", "web_search_20260209"] },
  hasCacheScope: false,
};

export const HOST_RULES: Readonly<Record<MessagesHost, HostRules>> = {
  anthropic: { betas: { unknown: "forward" }, members: {}, tools: { unknown: "keep" }, hasCacheScope: true },
  foundry: {
    betas: {
      unknown: "drop",
      forward: [
        ...COMPUTER,
        "context-1m-2025-08-07",
        "advanced-tool-use-2025-11-20",
        "code-execution-2025-08-25",
        "context-management-2025-06-27",
        "dangerous-tool-use-2026-09-03",
        "effort-2025-11-24",
        "files-api-2025-04-14",
        "interleaved-thinking-2025-05-14",
        "mcp-client-2025-04-04",
        "mcp-client-2025-11-20",
        "per-turn-control-2026-07-01",
        "prompt-caching-scope-2026-01-05",
        "skills-2025-10-02",
        "structured-outputs-2025-11-13",
        "thinking-display-updates-2026-08-18",
        "web-fetch-2025-09-10",
        "web-search-2025-03-05",
      ],
    },
    members: { drop: ["speed"] },
    tools: { unknown: "keep", drop: ["advisor_*"] },
    hasCacheScope: true,
  },
  "bedrock-invoke": {
    betas: {
      unknown: "drop",
      rename: SEARCH_BY_DEFERRAL,
      forward: [
        ...COMPUTER,
        "context-1m-2025-08-07",
        "compact-2026-01-12",
        "context-management-2025-06-27",
        "dangerous-tool-use-2026-09-03",
        "effort-2025-11-24",
        "fine-grained-tool-streaming-2025-05-14",
        "mid-conversation-output-config-2026-07-01",
        "mid-conversation-tool-changes-2026-07-01",
        "thinking-binding-controls-2026-08-01",
        "thinking-display-updates-2026-08-18",
        "tool-search-tool-2025-10-19",
      ],
    },
    members: {
      drop: [
        "mcp_servers",
        "container",
        "service_tier",
        "inference_geo",
        "speed",
        "output_format",
        "tools[].input_examples",
        "tools[].allowed_callers",
        "tools[].eager_input_streaming",
      ],
      dropWithoutBeta: NEXT_TO_BETAS,
    },
    tools: { unknown: "drop", types: CLIENT_TOOLS },
    hasCacheScope: false,
  },
  "bedrock-mantle": {
    betas: {
      unknown: "drop",
      rename: SEARCH_BY_DEFERRAL,
      forward: [
        ...COMPUTER,
        "context-1m-2025-08-07",
        "claude-code-20250219",
        "compact-2026-01-12",
        "context-management-2025-06-27",
        "dangerous-tool-use-2026-09-03",
        "effort-2025-11-24",
        "fine-grained-tool-streaming-2025-05-14",
        "interleaved-thinking-2025-05-14",
        "output-128k-2025-02-19",
        "per-turn-control-2026-07-01",
        "structured-outputs-2025-11-13",
        "thinking-binding-controls-2026-08-01",
        "thinking-display-updates-2026-08-18",
        "token-efficient-tools-2025-02-19",
        "tool-examples-2025-10-29",
        "tool-search-tool-2025-10-19",
        "web-search-2025-03-05",
      ],
    },
    members: { drop: ["mcp_servers", "container", "service_tier", "inference_geo", "speed"] },
    tools: { unknown: "drop", types: [...CLIENT_TOOLS, "web_search_*"] },
    hasCacheScope: false,
  },
  vertex: {
    betas: {
      unknown: "drop",
      rename: SEARCH_BY_DEFERRAL,
      forward: [
        ...COMPUTER,
        "context-1m-2025-08-07",
        "compact-2026-01-12",
        "compact-2026-09-04",
        "context-management-2025-06-27",
        "dangerous-tool-use-2026-09-03",
        "interleaved-thinking-2025-05-14",
        "per-turn-control-2026-07-01",
        "thinking-binding-controls-2026-08-01",
        "thinking-display-updates-2026-08-18",
        "tool-search-tool-2025-10-19",
        "web-search-2025-03-05",
      ],
    },
    members: {
      drop: [
        "mcp_servers",
        "container",
        "service_tier",
        "inference_geo",
        "speed",
        "output_format",
        "tools[].input_examples",
        "tools[].allowed_callers",
      ],
      dropWithoutBeta: NEXT_TO_BETAS,
    },
    tools: { unknown: "drop", types: [...CLIENT_TOOLS, "web_search_*"] },
    hasCacheScope: false,
  },
  openrouter: {
    betas: { unknown: "forward", drop: ["context-management-2025-06-27"] },
    members: { drop: ["context_management", "container", "mcp_servers"] },
    tools: { unknown: "keep", drop: ["advisor_*"] },
    hasCacheScope: false,
  },
  deepseek: DEEPSEEK,
  kimi: DEEPSEEK,
  glm: DEEPSEEK,
  minimax: DEEPSEEK,
  qwen: DEEPSEEK,
  other: {
    betas: { unknown: "drop" },
    members: {
      keep: [
        "model",
        "messages",
        "system",
        "max_tokens",
        "stream",
        "temperature",
        "top_p",
        "top_k",
        "stop_sequences",
        "tools",
        "tool_choice",
        "thinking",
        "metadata",
        "output_config",
      ],
    },
    tools: { unknown: "drop", types: ["custom"] },
    hasCacheScope: false,
  },
};

/** Every beta that is in one of these lists. */
export const KNOWN_BETAS: readonly string[] = [
  ...new Set(
    Object.values(HOST_RULES).flatMap(({ betas: { forward = [], drop = [], rename = {} } }) => [
      ...forward,
      ...drop,
      ...Object.entries(rename).flat(),
    ]),
  ),
].toSorted();
