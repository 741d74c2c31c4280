import type { ComponentProps, ReactNode } from "react";
import { tip } from "./tip.ts";
import "./row-button.css";

interface RowButtonProps extends Omit<ComponentProps<"button">, "children" | "aria-label"> {
  readonly label: string;
  readonly children: ReactNode;
  readonly hasTip?: boolean;
  readonly isOutlined?: boolean;
}

/** A small button in a cell: plain, because a table has hundreds and styled ones cost ten times as much. */
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
