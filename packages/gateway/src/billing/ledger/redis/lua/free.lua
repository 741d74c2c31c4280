-- Returns the free amount (neither used nor held) and the held amount. The free amount is nil for an account that is
-- not loaded in this epoch, and false for an unlimited one.
--
-- `grant` is the limit of a token that the caller read at the tokens revision `revision`; '' uses the stored one. An
-- older copy never replaces a newer one.
local function free(account, epoch, grant, revision)
  local a = redis.call('HMGET', account, 'e', 'b', 'h', 'g', 'r')
  if a[1] ~= epoch then return nil end
  local held = tonumber(a[3] or '0')
  local have = tonumber(a[2]) - held
  if grant == nil then return have, held end
  if grant == '' or tonumber(revision) < tonumber(a[5] or '0') then grant = a[4]
  elseif grant ~= a[4] or revision ~= a[5] then redis.call('HSET', account, 'g', grant, 'r', revision) end
  if grant == 'u' then return false, held end
  return have + tonumber(grant), held
end
