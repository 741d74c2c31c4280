// The texts of the grid: what clients send and the fake upstream answers.
import type { Json } from "./types.ts";

export const PNG_TYPE = "image/png";
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
export const SYSTEM = "You know every harbour.";
export const STOP_TEXT = "END-OF-TALK";

export const SCHEMA: Json = {
  type: "object",
  properties: { harbour: { type: "string" } },
  required: ["harbour"],
  additionalProperties: false,
};

export const TOOLS = [
  {
    name: "get_weather",
    description: "Weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
  {
    name: "get_time",
    description: "Time of a zone",
    parameters: { type: "object", properties: { zone: { type: "string" } }, required: ["zone"] },
  },
] as const;

/** Calls of the fake upstream. */
export const WEATHER = { name: "get_weather", args: { city: "Paris" } };
export const CLOCK = { name: "get_time", args: { zone: "UTC" } };
export const THINKING = "Let me think.";
