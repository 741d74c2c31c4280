/** Operators who know the vendor through clients of the OpenAI protocol paste this path with the base URL. */
export const COMPATIBLE = "/compatible-mode/v1";
