import { Fragment, useMemo, type ReactNode } from "react";
import { parseMarkdown, type Block, type Inline } from "../../lib/text/markdown.ts";
import { CopyButton } from "./copy-button.tsx";
import "./markdown.css";
import { useTexts } from "../texts.ts";

function inlineNodes(parts: readonly Inline[]): ReactNode {
  return parts.map((part, index) => <Fragment key={index}>{inlineNode(part)}</Fragment>);
}

function inlineNode(part: Inline): ReactNode {
  if (typeof part === "string") return part;
  switch (part.kind) {
    case "code":
      return <code>{part.text}</code>;
    case "strong":
      return <strong>{inlineNodes(part.inside)}</strong>;
    case "em":
      return <em>{inlineNodes(part.inside)}</em>;
    case "del":
      return <del>{inlineNodes(part.inside)}</del>;
    case "link":
      return (
        <a href={part.href} target="_blank" rel="noopener noreferrer">
          {inlineNodes(part.inside)}
        </a>
      );
    case "break":
      return <br />;
    default:
      return part satisfies never;
  }
}

function CodeBlock(props: { readonly language: string; readonly text: string }) {
  const t = useTexts();
  return (
    <div className="prose-code">
      <div className="prose-code-head">
        <span>{props.language}</span>
        <CopyButton text={props.text} label={t("copy")} />
      </div>
      <pre tabIndex={0}>{props.text}</pre>
    </div>
  );
}

function List(props: { readonly block: Block & { readonly kind: "list" } }) {
  const { start, items } = props.block;
  const rows = items.map((item, index) => <li key={index}>{itemNodes(item)}</li>);
  return start === undefined ? <ul>{rows}</ul> : <ol start={start}>{rows}</ol>;
}

/** A list item of one line needs no paragraph. */
function itemNodes(blocks: readonly Block[]): ReactNode {
  return blocks.map((block, index) => (
    <Fragment key={index}>
      {block.kind === "paragraph" ? inlineNodes(block.inside) : <BlockView block={block} />}
    </Fragment>
  ));
}

function Table(props: { readonly block: Block & { readonly kind: "table" } }) {
  const { head, rows } = props.block;
  return (
    <div className="prose-table" tabIndex={0} role="region" aria-label={useTexts()("table")}>
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index} scope="col">
                {inlineNodes(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>{inlineNodes(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function BlockView({ block }: { readonly block: Block }): ReactNode {
  switch (block.kind) {
    case "code":
      return <CodeBlock language={block.language} text={block.text} />;
    case "heading": {
      // The page has the first heading.
      const Heading = `h${Math.min(6, block.level + 1)}` as "h2";
      return <Heading>{inlineNodes(block.inside)}</Heading>;
    }
    case "rule":
      return <hr />;
    case "quote":
      return (
        <blockquote>
          {block.blocks.map((inside, index) => (
            <BlockView key={index} block={inside} />
          ))}
        </blockquote>
      );
    case "list":
      return <List block={block} />;
    case "table":
      return <Table block={block} />;
    case "paragraph":
      return <p>{inlineNodes(block.inside)}</p>;
    default:
      return block satisfies never;
  }
}

/** A text in Markdown. It becomes elements, never markup, so that nothing in it can run. */
export function Prose(props: { readonly text: string }) {
  const blocks = useMemo(() => parseMarkdown(props.text), [props.text]);
  return (
    <div className="prose">
      {blocks.map((block, index) => (
        <BlockView key={index} block={block} />
      ))}
    </div>
  );
}
