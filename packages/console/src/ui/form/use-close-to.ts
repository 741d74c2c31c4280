import { useLocation, useNavigate } from "react-router";

/** Returns a function that goes to the list under a drawer, with its filters. */
export function useCloseTo(list: string): () => void {
  const navigate = useNavigate();
  const { search } = useLocation();
  return () => void navigate({ pathname: list, search });
}
