import { Button } from "@chakra-ui/react";
import { useEffect, useState, type ReactNode } from "react";
import { Icon } from "../display/icon.tsx";
import { RowButton } from "../display/row-button.tsx";
import { useTexts } from "../texts.ts";
import { copyOrShow } from "./copy.ts";

function useCopy(text: string) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 1_600);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return { isCopied, copy: async () => setCopied(await copyOrShow(text)) };
}

/** Copies `text`; with children it is a labelled button, without them an icon. */
export function CopyButton(props: {
  readonly text: string;
  readonly label: string;
  readonly children?: ReactNode;
  readonly isPrimary?: boolean;
}) {
  const t = useTexts();
  const { isCopied, copy } = useCopy(props.text);
  const icon = <Icon name={isCopied ? "check" : "copy"} size={15} />;
  if (props.children === undefined) {
    return (
      <RowButton label={isCopied ? t("copied") : props.label} onClick={() => void copy()}>
        {icon}
      </RowButton>
    );
  }
  return (
    <Button variant={props.isPrimary ? "solid" : "outline"} onClick={() => void copy()}>
      {icon}
      {isCopied ? t("copied") : props.children}
    </Button>
  );
}
