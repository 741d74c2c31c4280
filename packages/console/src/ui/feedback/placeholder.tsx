import "./placeholder.css";
import { usePlaceholder } from "./placeholders.ts";

/** A grey area as large as the part of the page that is loading, so that nothing moves when it arrives. */
export function Placeholder(props: { readonly height: number; readonly width?: number; readonly label?: string }) {
  const { height, width, label } = props;
  usePlaceholder();
  return <div className="placeholder" style={{ height, width }} aria-busy="true" aria-label={label} />;
}
