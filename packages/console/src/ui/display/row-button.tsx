import type { ComponentProps, ReactNode } from "react";
import { tip } from "./tip.ts";
import "./row-button.css";

interface RowButtonProps extends Omit<ComponentProps<"button">, "children" | "aria-label"> {
  readonly label: string;
  readonly children: ReactNode;
  readonly hasTip?: boolean;
  readonly isOutlined?: boolean;
}

/**
 * A small button in a cell. It is plain, because a table has hundreds and styled ones take ten times as long to render.
 */
export function RowButton({ label, children, hasTip = true, isOutlined, ...rest }: RowButtonProps) {
  return (
    <button
      type="button"
      className={isOutlined ? "row-button is-outlined" : "row-button"}
      {...rest}
      {...tip(hasTip ? label : undefined)}
      aria-label={label}
    >
      {children}
    </button>
  );
}
