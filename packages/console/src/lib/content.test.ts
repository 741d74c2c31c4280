import { expect, test } from "vitest";
import { contentKind } from "./content.ts";

test("an address alone is framed, markup is HTML, anything else Markdown", () => {
  const texts = [
    "https://docs.example/about",
    " <h1>Us</h1>",
    "# Us\n\nhttps://docs.example",
    "http://docs.example",
    "",
  ];
  expect(texts.map(contentKind)).toEqual(["frame", "html", "markdown", "markdown", "markdown"]);
});
