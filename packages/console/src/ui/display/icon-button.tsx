import { Button } from "@chakra-ui/react";
import type { ComponentProps, ReactNode } from "react";
import { tip } from "./tip.ts";

interface IconButtonProps extends Omit<ComponentProps<typeof Button>, "children" | "aria-label"> {
  readonly label: string;
  readonly children: ReactNode;
  /** False if the surroundings already say what the label says. */
  readonly hasTip?: boolean;
}

/** A square button without text; its label is read aloud and shown on hover. */
export function IconButton({ label, children, hasTip = true, ...rest }: IconButtonProps) {
  return (
    <Button
      variant="ghost"
      px="0"
      aspectRatio="1"
      color="fg.muted"
      _hover={{ color: "fg", bg: "bg.emphasized" }}
      {...rest}
      {...tip(hasTip ? label : undefined)}
      aria-label={label}
    >
      {children}
    </Button>
  );
}
