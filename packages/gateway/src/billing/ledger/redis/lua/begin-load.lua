-- Checks whether this account may be loaded from the database. `ownerKind` is 'user' or 'token', `ownerId` its id in
-- charges.
--
-- Returns {0} closed; {1} already loaded; {2} has unbooked charges, which the database does not include yet; {3, epoch,
-- changes} may be loaded. In the last case `n` exists afterwards, so that `limit.lua` finds every account that is being
-- loaded.

local epochKey = KEYS[1]
local accountKey = KEYS[2]
local chargesKey = KEYS[3]
local ownerKind = ARGV[1]
local ownerId = ARGV[2]
local maxLength = ARGV[3]

local epoch = redis.call('GET', epochKey)
if not epoch then return {0} end
local a = redis.call('HMGET', accountKey, 'e', 'n')
if a[1] == epoch then return {1} end
local length = redis.call('XLEN', chargesKey)
if length > tonumber(maxLength) then return {2} end
if length > 0 then
  for _, entry in ipairs(redis.call('XRANGE', chargesKey, '-', '+')) do
    local user, token = string.match(entry[2][2], '^(%d+):(%d+)$')
    if (ownerKind == 'user' and user or token) == ownerId then return {2} end
  end
end
if not a[2] then redis.call('HSET', accountKey, 'n', 0) end
return {3, epoch, a[2] or '0'}
