/** What a type needs besides a key: [base address is required, hint of the further setting]. */
export const PARTS: readonly (readonly [type: number, hasBase: boolean, hint: RegExp | undefined])[] = [
  [3, true, /API version: v1, preview, or a date/],
  [8, true, /The base URL is complete/],
  [18, false, /API version such as v2\.1/],
  [21, false, /Library id/],
  [22, false, undefined],
  [36, true, undefined],
  [39, false, /Account id/],
  [41, false, /Region, us-central1 when empty, or \{"model": "region"/],
];

/** The labels of the types of compatible gateways. */
export const TYPES: Readonly<Record<number, string>> = {
  1: "OpenAI",
  2: "Midjourney Proxy",
  3: "Azure OpenAI",
  4: "Ollama",
  5: "Midjourney Proxy Plus",
  8: "Custom Channel",
  11: "Google PaLM2",
  14: "Anthropic Claude",
  15: "Baidu Wenxin Qianfan",
  16: "Zhipu ChatGLM",
  17: "Ali Tongyi Qianwen",
  18: "iFlytek Spark",
  19: "360 Smart Brain",
  21: "Knowledge Base AI Proxy",
  22: "Knowledge Base FastGPT",
  23: "Tencent Hunyuan",
  24: "Google Gemini",
  25: "Moonshot",
  26: "Zhipu GLM-4V",
  31: "Zero One Everything",
  33: "AWS Claude",
  34: "Cohere",
  35: "MiniMax",
  36: "Suno API",
  37: "Dify",
  38: "Jina",
  39: "Cloudflare",
  40: "SiliconCloud",
  41: "Vertex AI",
};

/** The default value in the form of a new channel, by type. */
export const DEFAULTS: Readonly<Record<number, string>> = { 3: "2023-06-01-preview", 18: "v2.1" };
