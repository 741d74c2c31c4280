// The unions of the official clients that define what a request may contain. scripts/sdk-parts.ts reads their members
// with the TypeScript compiler; a type that a new version adds appears in sdk-parts.json, and tests fail until it is
// handled.
import type Anthropic from "@anthropic-ai/sdk";
import type { FunctionResponsePart, Part, Tool } from "@google/genai";
import type OpenAI from "openai";

export type ChatMessages = OpenAI.ChatCompletionMessageParam;
export type ChatParts =
  | OpenAI.ChatCompletionContentPart
  | OpenAI.ChatCompletionContentPartText
  | OpenAI.ChatCompletionContentPartRefusal;
export type ChatCalls = OpenAI.ChatCompletionMessageToolCall;
export type ChatTools = OpenAI.ChatCompletionTool;
export type ChatFormats = NonNullable<OpenAI.ChatCompletionCreateParams["response_format"]>;

export type ResponsesItems = OpenAI.Responses.ResponseInputItem;
export type ResponsesParts =
  | OpenAI.Responses.ResponseInputContent
  | OpenAI.Responses.ResponseFunctionCallOutputItem
  | OpenAI.Responses.ResponseOutputMessage["content"][number]
  | OpenAI.Responses.ResponseInputAudio;
export type ResponsesTools = OpenAI.Responses.Tool;
export type ResponsesFormats = OpenAI.Responses.ResponseFormatTextConfig;

export type MessagesBlocks = Anthropic.Messages.ContentBlockParam | Anthropic.Beta.Messages.BetaContentBlockParam;
export type MessagesResultBlocks = Exclude<
  NonNullable<Anthropic.Beta.Messages.BetaToolResultBlockParam["content"]>,
  string
>[number];
export type MessagesSources =
  | Anthropic.Beta.Messages.BetaImageBlockParam["source"]
  | Anthropic.Beta.Messages.BetaRequestDocumentBlock["source"];
export type MessagesTools = Anthropic.Messages.ToolUnion | Anthropic.Beta.Messages.BetaToolUnion;

/** Objects that contain one member of many: each member is a kind of its own. */
export type GeminiParts = Part;
export type GeminiTools = Tool;
export type GeminiResultParts = FunctionResponsePart;
