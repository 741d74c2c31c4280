import { Box } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Announcement } from "./announcement.tsx";
import { demoQuery, noticeQuery } from "./api.ts";

/** The page below its notices; it appears once the notices are known, so that it does not move while it is read. */
export function Opening(props: {
  readonly hasDemo?: boolean;
  /** True while more data decides what is shown. */
  readonly isWaiting?: boolean;
  readonly children: ReactNode;
}) {
  const notice = useQuery(noticeQuery);
  const demo = useQuery({ ...demoQuery, enabled: props.hasDemo === true });
  const isPlaced = !notice.isLoading && !demo.isLoading && props.isWaiting !== true;
  return (
    <Box visibility={isPlaced ? "visible" : "hidden"} aria-busy={!isPlaced}>
      <Announcement />
      {props.children}
    </Box>
  );
}
