"""placeholder"""

from explorer.models.offline.demo import answer as answer
