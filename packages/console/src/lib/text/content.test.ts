import { expect, test } from "vitest";
import { contentKind, hasMarkup } from "./content.ts";

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

test("a line is markup as soon as an element begins in it", () => {
  const markup = ["© 2026 <a href='https://a.example'>Us</a>", "One<br/>two", "<P>Us</P>"];
  const plain = ["© 2026 [Us](https://a.example)", "<https://a.example>", "<ann@a.example>", "1 < 2 and 3 > 2", ""];
  expect(markup.map(hasMarkup)).toEqual(markup.map(() => true));
  expect(plain.map(hasMarkup)).toEqual(plain.map(() => false));
});
