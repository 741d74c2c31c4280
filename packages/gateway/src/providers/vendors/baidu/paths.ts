/** Last part of the path by model; other models use their name in lower case. */
const SUFFIXES: Readonly<Record<string, string>> = {
  "ERNIE-4.0": "completions_pro",
  "ERNIE-4.0-8K": "completions_pro",
  "ERNIE-Bot-4": "completions_pro",
  "ERNIE-4.0-8K-Preview-0518": "completions_adv_pro",
  "ERNIE-Bot": "completions",
  "ERNIE-3.5-8K": "completions",
  "ERNIE-Bot-turbo": "eb-instant",
  "ERNIE-Lite-8K-0922": "eb-instant",
  "ERNIE-Speed": "ernie_speed",
  "ERNIE-Speed-8K": "ernie_speed",
  "ERNIE-Bot-8K": "ernie_bot_8k",
  "ERNIE-Lite-8K": "ernie-lite-8k",
  "ERNIE-Lite-8K-0308": "ernie-lite-8k",
  "ERNIE-Function-8K": "ernie-func-8k",
  "ERNIE-Character-8K": "ernie-char-8k",
  "ERNIE-Character-Fiction-8K": "ernie-char-fiction-8k",
  "ERNIE-Bot-turbo-AI": "ai_apaas",
  "BLOOMZ-7B": "bloomz_7b1",
  "Llama-2-7b-chat": "llama_2_7b",
  "Llama-2-13b-chat": "llama_2_13b",
  "Llama-2-70b-chat": "llama_2_70b",
  "Meta-Llama-3-8B": "llama_3_8b",
  "Meta-Llama-3-70B": "llama_3_70b",
  "Mixtral-8x7B-Instruct": "mixtral_8x7b_instruct",
  "Yi-34B-Chat": "yi_34b_chat",
  "ChatGLM2-6B-32K": "chatglm2_6b_32k",
  "Gemma-7B-it": "gemma_7b_it",
  "XuanYuan-70B-Chat-4bit": "xuanyuan_70b_chat",
  "Embedding-V1": "embedding-v1",
  "bge-large-zh": "bge_large_zh",
  "bge-large-en": "bge_large_en",
  "tao-8k": "tao_8k",
};

export function workshopPath(kind: "chat" | "embeddings", model: string): string {
  const suffix = SUFFIXES[model] ?? model.toLowerCase();
  return `/rpc/2.0/ai_custom/v1/wenxinworkshop/${kind}/${encodeURIComponent(suffix)}`;
}
