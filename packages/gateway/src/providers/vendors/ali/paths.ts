/** Pasted with the base by those who know the vendor through clients of the OpenAI protocol. */
export const COMPATIBLE = "/compatible-mode/v1";
