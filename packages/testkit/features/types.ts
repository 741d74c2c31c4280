// What applications do with an official client, in one interface for all clients.

export interface OfficialClient {
  readonly name: string;
  /** Lets the client run `get_weather` (answer: `RESULT`) until the model writes; returns the text. */
  tools(model: string, isStream: boolean): Promise<string>;
  /** Sends an image; returns the text. */
  image(model: string, isStream: boolean): Promise<string>;
  /** Requests an object by schema with this prompt; returns what the client parsed. */
  structured(model: string, isStream: boolean, prompt: string): Promise<unknown>;
  /** Works like `tools`, with thinking; undefined for clients that show none. */
  readonly thinking: ((model: string, isStream: boolean) => Promise<Thought>) | undefined;
}

export interface Thought {
  readonly thinking: string;
  readonly text: string;
}

export interface Access {
  readonly url: string;
  readonly key: string;
}

export const PROMPT = "What is the weather in Paris?";
export const RESULT = "sunny in Paris";
export const RUN = ({ city }: { city: string }): string => `sunny in ${city}`;
