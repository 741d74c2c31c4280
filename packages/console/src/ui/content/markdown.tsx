import { lazy, Suspense } from "react";

const Prose = lazy(async () => ({ default: (await import("./prose.tsx")).Prose }));

/** A text in Markdown. Its parser loads with the first such text; until then the source is shown. */
export function Markdown(props: { readonly text: string }) {
  return (
    <Suspense
      fallback={
        <div className="prose" style={{ whiteSpace: "pre-wrap" }}>
          {props.text}
        </div>
      }
    >
      <Prose text={props.text} />
    </Suspense>
  );
}
