import { useEffect, useState } from "react";
import { Icon } from "../display/icon.tsx";
import { RowButton } from "../display/row-button.tsx";
import { CopyButton } from "./copy-button.tsx";
import "./secret-cell.css";

const REVEAL_MS = 30_000;

interface SecretCellProps {
  readonly text: string;
  readonly masked: string;
  /** Labels of the two buttons. */
  readonly reveal: string;
  readonly conceal: string;
  readonly copy: string;
}

/** A key in a table: masked, revealed for half a minute, or copied without being shown. */
export function SecretCell(props: SecretCellProps) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (!isShown) return;
    const timer = setTimeout(() => setShown(false), REVEAL_MS);
    return () => clearTimeout(timer);
  }, [isShown]);
  return (
    <span className="secret-cell">
      <code className={isShown ? "mono is-open" : "mono"}>{isShown ? props.text : props.masked}</code>
      <RowButton hasTip={false} label={isShown ? props.conceal : props.reveal} onClick={() => setShown(!isShown)}>
        <Icon name={isShown ? "eyeOff" : "eye"} size={15} />
      </RowButton>
      <CopyButton text={props.text} label={props.copy} />
    </span>
  );
}
