import { Button } from "@chakra-ui/react";
import { Suspense, useEffect, useState, type ReactNode } from "react";
import { copyText } from "../../lib/clipboard.ts";
import { Icon } from "../display/icon.tsx";
import { RowButton } from "../display/row-button.tsx";
import { useTexts } from "../texts.ts";
import { lateNeeded } from "../late/late.tsx";

const CopyDialog = lateNeeded(async () => (await import("./copy-dialog.tsx")).CopyDialog);

function useCopy(text: string) {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  useEffect(() => {
    if (state !== "copied") return;
    const timer = setTimeout(() => setState("idle"), 1_600);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async () => setState((await copyText(text)) ? "copied" : "failed");
  return { state, copy, reset: () => setState("idle") };
}

/** Copies `text`; with children a labelled button, without them an icon. */
export function CopyButton(props: {
  readonly text: string;
  readonly label: string;
  readonly children?: ReactNode;
  readonly isPrimary?: boolean;
}) {
  const t = useTexts();
  const { state, copy, reset } = useCopy(props.text);
  const icon = <Icon name={state === "copied" ? "check" : "copy"} size={15} />;
  return (
    <>
      {props.children === undefined ? (
        <RowButton label={state === "copied" ? t("copied") : props.label} onClick={() => void copy()}>
          {icon}
        </RowButton>
      ) : (
        <Button variant={props.isPrimary ? "solid" : "outline"} onClick={() => void copy()}>
          {icon}
          {state === "copied" ? t("copied") : props.children}
        </Button>
      )}
      <Suspense>{state === "failed" && <CopyDialog text={props.text} onClose={reset} />}</Suspense>
    </>
  );
}
