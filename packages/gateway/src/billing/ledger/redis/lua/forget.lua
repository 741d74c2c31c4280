-- Removes an account that has been unchanged for a while, according to its field `m`: the time and state of the first
-- check.
--
-- Accounts with held amounts remain, and so do accounts that changed while they were not loaded, because the next load
-- checks for that.

local epochKey = KEYS[1]
local accountKey = KEYS[2]
local idleSeconds = ARGV[1]

if redis.call('EXISTS', accountKey) == 0 then return 0 end
local epoch = redis.call('GET', epochKey)
local a = redis.call('HMGET', accountKey, 'e', 'n', 'h', 'm', 'b', 'v', 'i')
if (a[3] or '0') ~= '0' then return 0 end
if (not epoch or a[1] ~= epoch) and (a[2] or '0') ~= '0' then return 0 end
local now, state = redis.call('TIME')[1], (a[5] or '') .. ' ' .. (a[6] or '') .. ' ' .. (a[7] or '')
local since, seen = string.match(a[4] or '', '^(%d+) (.*)$')
if seen ~= state or tonumber(since) > tonumber(now) then
  redis.call('HSET', accountKey, 'm', now .. ' ' .. state)
  return 0
end
if now - since < tonumber(idleSeconds) then return 0 end
return redis.call('DEL', accountKey)
